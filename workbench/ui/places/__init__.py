"""The Places dialog: machines where runs may work, with what each has and lacks."""
