package session

// Alike is alike.
var Alike = alike
