// Runs one SQL statement in DuckDB, and prints its rows as JSON, one a line.
import { DuckDBInstance } from "@duckdb/node-api";

const [sql] = process.argv.slice(2);
const instance = await DuckDBInstance.create(":memory:");
const connection = await instance.connect();
const reader = await connection.runAndReadAll(sql);
for (const row of reader.getRowObjectsJson()) {
  console.log(JSON.stringify(row));
}
