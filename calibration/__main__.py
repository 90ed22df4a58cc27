"""`python -m calibration` is the command `judge-calibration`."""

from calibration.cli import main

main()
