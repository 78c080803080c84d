"""What a project's own commands prove. Words about tests are not evidence; an exit code that agentd saw is."""
