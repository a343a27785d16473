"""The Streamlit front end: widgets and layout only; it reads saved rounds and never trains."""
