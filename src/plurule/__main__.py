"""`python -m plurule`."""

from plurule.cli import main

if __name__ == "__main__":
    main()
