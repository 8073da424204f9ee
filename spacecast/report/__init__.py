"""Static pages to look at scenes and questions and to review them."""
