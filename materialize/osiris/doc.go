// Package osiris follows the settings of an OSIRIS database while the program runs.
//
//	administrative collections ─▶ Read (or a Keeper, while the database is unavailable) ─▶ rules/osiris
//	    ─▶ Follower.Answers ─▶ the front end, when they have changed
//	    ─▶ Follower.Activities ─▶ the job of activities, at each of its runs
//
// With it, pointing Vitrine at such a database needs one setting (docs/osiris.md).
package osiris
