"""Text in a Plotly figure: shown as it was written, whatever it holds."""

from __future__ import annotations

from html import escape as escaped_html


def escape(text: str) -> str:
    """Return text that Plotly shows as it is, in names, annotations and what appears under the pointer.

    Plotly reads tags, numbers of characters and eight named ones, among which no quote is (`convertEntities` of its
    svg_text_utils), and in a hovertemplate `%{...}` as a value to fill in.

    >>> escape('<b> & "%{x}"')
    '&lt;b&gt; &amp; "&#37;{x}"'
    """
    return escaped_html(text, quote=False).replace("%{", "&#37;{")
