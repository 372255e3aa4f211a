/** Access logging of requests. See docs/reference/access-log.md. */
import { enableAccessLog } from "../annotations/responses.ts";
import type { Group } from "./group.ts";

export const accessLog: Group = (read) =>
  read(enableAccessLog) === false ? { route: (route) => ({ ...route, accessLog: false }) } : {};
