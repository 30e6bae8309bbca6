"""Starts gunicorn with the packages beside this file."""

import pathlib
import sys

sys.path.insert(1, str(pathlib.Path(__file__).parent / "packages"))

from gunicorn.app.wsgiapp import run  # noqa: E402

run()
