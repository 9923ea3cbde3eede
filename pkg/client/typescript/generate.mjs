// Writes the types of the API from its description: node generate.mjs DESCRIPTION FILE.
import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

const [from, to] = process.argv.slice(2);
const description = JSON.parse(readFileSync(from, "utf8"));

// Problems are thrown, so answers are those of success. Examples and headers would be two thirds of the file.
for (const operations of Object.values(description.paths)) {
  for (const operation of Object.values(operations)) {
    for (const [status, answer] of Object.entries(operation.responses)) {
      if (status >= "300") delete operation.responses[status];
      delete answer.headers;
    }
  }
}
delete description.components.headers;
delete description.components.responses;
dropExamples(description);

const blob = ts.factory.createTypeReferenceNode("Blob");
const ast = await openapiTS(description, {
  defaultNonNullable: false, // a field with a default may be left out of a body
  transform: (schema) => (schema.format === "binary" ? blob : undefined),
});
writeFileSync(to, "// Generated from the description of the API by `make clients`. Do not edit.\n\n" + astToString(ast));

function dropExamples(node) {
  if (node === null || typeof node !== "object") return;
  // A list of examples belongs to a schema or a body; a map with this name would be of fields.
  delete node.example;
  if (Array.isArray(node.examples)) delete node.examples;
  Object.values(node).forEach(dropExamples);
}
