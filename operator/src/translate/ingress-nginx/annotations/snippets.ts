/** Annotations that contain parts of nginx's configuration. They are never executed. */
import { linesForm } from "../values.ts";
import { declare } from "./declare.ts";

const snippet = {
  form: linesForm("nginx configuration"),
  bad: "X",
  risk: "Critical",
  protective: true,
  shownDefault: "none",
  served: "served",
  shownServed: "in part",
  here: "Never executed. Header fields are served where the ConfigMap allows snippets; paths that it protects get 503.",
} as const;

export const configurationSnippet = declare({
  ...snippet,
  name: "configuration-snippet",
  scope: "location",
  meaning: "Configuration of the locations of the Ingress.",
});
export const serverSnippet = declare({
  ...snippet,
  name: "server-snippet",
  scope: "host",
  meaning: "Configuration of the host.",
});
export const streamSnippet = declare({
  ...snippet,
  name: "stream-snippet",
  scope: "host",
  meaning: "Configuration of TCP and UDP of the whole controller.",
});
