"""What happens to one document: detection, validation, lifting, fitting, writing, comparison."""
