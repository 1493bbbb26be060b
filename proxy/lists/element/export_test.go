package element

// HashedName is the name of a file in a release.
var HashedName = hashedName
