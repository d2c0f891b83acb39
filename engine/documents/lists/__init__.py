"""What people see of a project's documents: lists, searches, thumbnails and sums."""
