"""What `bitcipher doctor` checks, a function a check: each gives a finding, and says what to do where it is bad."""
