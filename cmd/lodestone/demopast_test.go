package main

const pastAgrees = "What was written, what the API answers and what SQL answers agree."
