"""What one document goes through: detection, validation, lifting, fitting, writing, comparison."""
