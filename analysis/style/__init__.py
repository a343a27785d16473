"""How figures look: colours, markers, line styles and the Plotly theme."""
