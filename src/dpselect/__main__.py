"""``python -m dpselect``."""

import sys

from dpselect.cli.process import main

if __name__ == "__main__":
    sys.exit(main())
