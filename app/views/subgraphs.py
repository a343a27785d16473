import streamlit as st
from app.widgets import frame


def page() -> None:
    with frame.page("subgraphs", ""):
        frame.empty("x", "y", "hub")
