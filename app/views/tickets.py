import streamlit as st
from app.widgets import frame
def page() -> None:
    with frame.page("tickets", ""):
        frame.empty("x","y","hub")
