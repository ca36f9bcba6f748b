"""Sets up what a door of the Makefile needs: ``python3 tools/prepare.py [EXTRA]``; environments.py beside it does it.

Any Python can read this file, even 2.7, so that one that is too old says so in a sentence.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - whoever starts it may have an older one
    sys.exit("Python 3.11 or later is needed: run this with one that is.")

if __name__ == "__main__":
    from environments import main

    main()
