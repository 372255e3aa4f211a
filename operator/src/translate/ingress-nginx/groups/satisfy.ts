/** Whether one of address lists, login and `auth-url` is enough. See docs/ingress-nginx.md, "Basic authentication". */
import { satisfy } from "../annotations/basic-auth.ts";
import type { Group } from "./group.ts";

export const satisfyAny: Group = (read) => (read(satisfy) === "any" ? { features: { satisfy: "any" } } : {});
