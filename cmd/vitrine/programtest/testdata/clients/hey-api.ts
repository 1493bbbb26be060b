// A client made by hey-api.
import { activities, allActivities, events, item, listAbout, projects } from "./hey";
import type { ActivityRecords, Event, ProjectTable, PublicList, ShownProjects, TableRow } from "./hey";
import { client } from "./hey/client.gen";

client.setConfig({ baseUrl: process.argv[2] });

function want(what: string, holds: boolean): void {
  if (!holds) throw new Error(what);
}

async function main() {
  const table: TableRow[] = (await allActivities({ query: { type: "lecture" }, throwOnError: true })).data.data;
  want("lectures", table.length > 0 && table.every((row) => row.raw_type === "lecture" && row["search-text"].length > 0));

  const records = (await activities({ query: { full: true, limit: 1 }, throwOnError: true })).data as ActivityRecords;
  const id = records.data[0]._id;
  want("an ObjectID", typeof id === "object" && id.$oid.length === 24);

  const shown = (await projects({ query: { limit: 1 }, throwOnError: true })).data as ShownProjects;
  const persons: string | undefined = shown.data[0].persons;
  want("names", persons !== undefined && persons.length > 0);

  const all: Event[] = (await events({ throwOnError: true })).data.data;
  want("events", all.every((event) => event.id.length === 24));

  const about = { path: { kind: "unit", id: "ECO.json" }, query: { type: "publication", group: "type", limit: 1 }, throwOnError: true } as const;
  const unit = (await listAbout(about)).data as PublicList;
  want("one of a unit", unit.items.length === 1);
  const one = (await item({ path: { id: unit.items[0].id + ".json" }, query: { lang: "de", style: "print" }, throwOnError: true })).data as PublicList;
  want("the same record", one.items[0].cite_key === unit.items[0].cite_key);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
