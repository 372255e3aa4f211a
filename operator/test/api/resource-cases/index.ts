import type { KindName } from "../../../src/api/kinds.ts";
import { attachedCases } from "./attached.ts";
import type { FieldCase, ResourceCases } from "./case.ts";
import { extensionCases } from "./extensions.ts";

/** By kind; every kind of the gateway's own has a table. */
export const resourceCases = new Map(
  Object.entries({ ...extensionCases, ...attachedCases }) as [KindName, ResourceCases][],
);

type Fields = { readonly [name: string]: unknown };

/** The spec with another value at a path; undefined takes the field away. */
export function withField(spec: object, path: string, value: unknown): Fields {
  const [name = "", ...rest] = path.split(".");
  const fields = spec as Fields;
  const inner = rest.length === 0 ? value : withField((fields[name] ?? {}) as object, rest.join("."), value);
  const { [name]: _, ...others } = fields;
  return inner === undefined ? others : { ...others, [name]: inner };
}

/** A value for a message, cut. */
export const show = (value: unknown): string => (JSON.stringify(value) ?? "nothing").slice(0, 80);

/** All cases of a kind, with the field that they are about. */
export const casesOf = ({ fields }: ResourceCases): readonly (FieldCase & { readonly path: string })[] =>
  Object.entries(fields).flatMap(([path, cases]) => cases.map((one) => ({ ...one, path })));
