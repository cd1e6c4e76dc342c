//! Finding herbs, formulations and papers by what a person writes, in Thai or English.
