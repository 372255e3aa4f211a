/** The pictures of the documentation, by path; scripts/generate-docs.ts writes them. */
import { readFileSync } from "node:fs";
import { plotOf } from "../../bench/compare/report/plot.ts";
import { filterOrder } from "../../proxy/src/filters/order.ts";
import { benchmarkResults } from "../benchmark-results.ts";
import { architecturePicture } from "./architecture.ts";
import { certificatePicture } from "./certificate.ts";
import { faultsPicture } from "./faults.ts";
import { migrationPicture } from "./migration.ts";
import { requestPicture } from "./request.ts";
import { sequencePicture } from "./sequence.ts";
import { topologyPicture } from "./topology.ts";

const pageOf = (path: string): string => readFileSync(new URL(`../../docs/${path}`, import.meta.url), "utf8");

export const pictures: Readonly<Record<string, () => string>> = {
  "docs/images/architecture.svg": architecturePicture,
  "docs/images/benchmarks.svg": () => plotOf(benchmarkResults()),
  "docs/images/certificate.svg": certificatePicture,
  "docs/images/faults.svg": () => faultsPicture(pageOf("operations.md")),
  "docs/images/migration.svg": migrationPicture,
  "docs/images/request.svg": () => requestPicture(filterOrder),
  "docs/images/sequence.svg": sequencePicture,
  "docs/images/topology.svg": topologyPicture,
};
