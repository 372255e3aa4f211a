import { isSessionKey, type SessionKeyValue } from "@svc-gateway/common/ir/session-key.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { refOf } from "../../api/object.ts";
import { createLookup, type World } from "../../world.ts";
import { invalidSessionKey } from "../diagnostics/backends.ts";
import type { Diagnostic } from "../finding.ts";
import { memo } from "../incremental/memo.ts";

/** The name of the Secret with the key of session cookies, in the install namespace, and the key in its data. */
export const sessionKeySecret = "svc-session-key";
export const sessionKeyField = "key";

type Part = { readonly value: SessionKeyValue | undefined; readonly diagnostics: readonly Diagnostic[] };

/** The key of session cookies: that of the Secret, otherwise `otherwise` (base64). */
export function translateSessionKey(world: World, namespace: string, otherwise: string | undefined): Part {
  const secret = createLookup(world)("Secret", namespace, sessionKeySecret);
  if (secret !== undefined) return readSecret(secret);
  return { value: otherwise === undefined ? undefined : valueOf(otherwise), diagnostics: [] };
}

const readSecret = memo((secret: ObjectOf<"Secret">): Part => {
  const key = secret.data?.[sessionKeyField] ?? "";
  if (isSessionKey(key)) return { value: { key }, diagnostics: [] };
  return {
    value: undefined,
    diagnostics: [invalidSessionKey({ object: refOf(secret), field: `data.${sessionKeyField}` })],
  };
});

/** The value is the same object for the same key, so that its resource is encoded once. */
function valueOf(key: string): SessionKeyValue {
  if (last?.key !== key) last = { key };
  return last;
}
let last: SessionKeyValue | undefined;
