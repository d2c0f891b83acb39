"""Commands for those who look after an installation: people, projects, checks, jobs and figures."""
