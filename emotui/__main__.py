"""`python -m emotui`, and the `emotui` command."""

from emotui.commands import main

if __name__ == "__main__":
    main()
