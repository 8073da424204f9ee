"""Procedural furnished rooms, written as raw scans."""
