"""Who sits in front of the machine."""

from __future__ import annotations

import getpass

LONGEST_NAME = 200


def login_name() -> str:
    """The name of the operating system's user, `me` where it has none."""
    try:
        return getpass.getuser().strip()[:LONGEST_NAME] or "me"
    except (OSError, KeyError, ImportError):
        return "me"
