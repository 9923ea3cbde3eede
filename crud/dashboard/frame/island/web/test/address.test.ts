import assert from "node:assert/strict";
import { test } from "node:test";

import { formAddress, sameScreen, signedOut } from "../src/address.ts";

const here = "https://example.com/dashboard/readers?days=30";

test("only another state of the same screen is drawn in place", () => {
  assert.equal(sameScreen("?days=7", here)?.href, "https://example.com/dashboard/readers?days=7");
  assert.equal(sameScreen("/dashboard/readers", here)?.href, "https://example.com/dashboard/readers");
  for (const href of ["/dashboard", "https://other.example/dashboard/readers?days=7", "#content", "mailto:a@example.com", "http://["]) {
    assert.equal(sameScreen(href, here), undefined, href);
  }
});

test("a form leads where it leads without scripts", () => {
  assert.equal(formAddress(here, [["q", "a b&c"], ["finished", ""], ["file", {}]]), "https://example.com/dashboard/readers?q=a+b%26c&finished=");
});

test("an ended session is noticed", () => {
  assert.equal(signedOut(here, { status: 200, redirected: false, url: here }), false);
  assert.equal(signedOut(here, { status: 401, redirected: false, url: here }), true);
  assert.equal(signedOut(here, { status: 200, redirected: true, url: "https://example.com/dashboard/sign-in?next=%2Fdashboard" }), true);
});
