// Package osiris reads what an OSIRIS database says of itself from a store, and keeps it
// in files for the time that the database is away. Package rules/osiris turns the
// documents into settings.
package osiris
