/** The navigation of the site, by audience. Every page must have a place; scripts/test/site.test.ts fails otherwise. */
import { matchesGlob } from "node:path";

export type Section = {
  readonly title: string;
  /** The tasks of the readers of the section. */
  readonly purpose: string;
  /** Files in order; a pattern is a separate group, with its pages sorted by file name. */
  readonly entries: readonly (string | Group)[];
};

export type Group = { readonly title: string; readonly pattern: string };

export const sections: readonly Section[] = [
  {
    title: "Start",
    purpose: "Send a first request on a laptop, install on a cluster, and take it into production.",
    entries: [
      "README.md",
      "docs/tutorials/first-hour.md",
      "docs/tutorials/first-day.md",
      "docs/tutorials/first-month.md",
      "docs/installation.md",
      "docs/namespaced-installation.md",
      "docs/standalone.md",
      "docs/troubleshooting.md",
      "docs/glossary.md",
    ],
  },
  {
    title: "Tasks",
    purpose: "Route, protect and change requests: an example to copy and a page for each feature.",
    entries: [
      "config/examples/README.md",
      { title: "Examples by name", pattern: "config/examples/*/README.md" },
      { title: "Features", pattern: "docs/features/*.md" },
      "docs/routing.md",
      "docs/gateway-api.md",
      "docs/dedicated-gateways.md",
      "docs/cross-namespace-references.md",
      "docs/request-templates.md",
      "docs/migrating-from-ingress-nginx.md",
      "docs/ingress-nginx.md",
      "docs/foreign-annotations.md",
    ],
  },
  {
    title: "Operations",
    purpose: "Run it: sizes, faults, monitoring, alerts, upgrades and security.",
    entries: [
      "docs/operations.md",
      "docs/dashboards.md",
      "docs/controller.md",
      "docs/discovery.md",
      "docs/console.md",
      "docs/security.md",
      "docs/threat-model.md",
      "docs/upgrading.md",
      "docs/runbooks/README.md",
      { title: "Runbooks by alert", pattern: "docs/runbooks/*.md" },
    ],
  },
  {
    title: "Reference",
    purpose: "Look up a flag, annotation, resource, metric, Event or reason of a refusal.",
    entries: [
      "docs/cli.md",
      { title: "Reference pages", pattern: "docs/reference/*.md" },
      "config/chart/README.md",
      "docs/policy-status.md",
      "docs/filter-order.md",
      "docs/conformance/README.md",
    ],
  },
  {
    title: "Design",
    purpose: "Learn how it is built and why, and what was measured.",
    entries: [
      "docs/architecture.md",
      "docs/benchmarks.md",
      "docs/scale.md",
      { title: "Decisions", pattern: "docs/adr/*.md" },
    ],
  },
  {
    title: "Project",
    purpose: "Contribute, release, report a vulnerability, and see what changed.",
    entries: [
      "CONTRIBUTING.md",
      "docs/style.md",
      "docs/releasing.md",
      "CHANGELOG.md",
      "SECURITY.md",
      "MAINTAINERS.md",
      "CODE_OF_CONDUCT.md",
      "e2e/README.md",
      "e2e/cluster/README.md",
    ],
  },
];

/** The existing files of a section with their group. A file that is listed by name is in no group. */
export function filesOf(
  section: Section,
  files: Iterable<string>,
): readonly { readonly file: string; readonly group?: string }[] {
  const present = new Set(files);
  const named = new Set(section.entries.filter((entry) => typeof entry === "string"));
  return section.entries.flatMap((entry) => {
    if (typeof entry === "string") return present.has(entry) ? [{ file: entry }] : [];
    return [...present]
      .filter((file) => matchesGlob(file, entry.pattern) && !named.has(file))
      .sort()
      .map((file) => ({ file, group: entry.title }));
  });
}
