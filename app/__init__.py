"""The Streamlit app: widgets and layout. It reads saved rounds and never trains."""
