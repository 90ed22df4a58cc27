"""The Streamlit app. Imports calibration; nothing imports annotate."""
