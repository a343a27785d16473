import streamlit as st
from app.widgets import frame
def page() -> None:
    with frame.page("measurements", ""):
        frame.empty("x","y","hub")
