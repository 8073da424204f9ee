"""Objects, attachment, interventions, feasibility: values that never change."""
