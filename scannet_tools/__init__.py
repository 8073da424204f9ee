"""Raw ScanNet and ScanNet++ files in: knows formats, knows no questions."""
