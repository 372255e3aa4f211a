type WithStatus = { readonly metadata: object; readonly status?: unknown };

type Condition = { readonly type: string; readonly message?: string };

type Entry = {
  readonly manager: string;
  readonly operation: "Update";
  readonly subresource: "status";
  readonly fieldsV1: { readonly "f:status": { readonly "f:conditions": Readonly<Record<string, object>> } };
};

const conditionsOf = ({ status }: WithStatus): readonly Condition[] =>
  (status as { readonly conditions?: readonly Condition[] } | undefined)?.conditions ?? [];

const managedOf = ({ metadata }: WithStatus): readonly Entry[] =>
  (metadata as { readonly managedFields?: readonly Entry[] }).managedFields ?? [];

/**
 * Returns the object with the managed fields of its conditions after an update of the status. Of the fields, only the
 * message is recorded, for the manager that has changed it last.
 */
export function withManagedConditions<T extends WithStatus>(before: T, after: T, manager: string): T {
  const owners = new Map(
    managedOf(before).flatMap(({ manager: owner, fieldsV1 }) =>
      Object.keys(fieldsV1["f:status"]["f:conditions"]).map((key) => [key, owner] as const),
    ),
  );
  const keyOf = (type: string): string => `k:${JSON.stringify({ type })}`;
  const messages = new Map(conditionsOf(before).map(({ type, message }) => [type, message]));
  const now = conditionsOf(after);
  for (const { type, message } of now) {
    if (!messages.has(type) || messages.get(type) !== message) owners.set(keyOf(type), manager);
  }
  const present = [...owners].filter(([key]) => now.some(({ type }) => keyOf(type) === key));
  const managedFields = [...Map.groupBy(present, ([, owner]) => owner)].map(([owner, keys]): Entry => {
    const conditions = Object.fromEntries(keys.map(([key]) => [key, { ".": {}, "f:message": {} }]));
    return {
      ...{ manager: owner, operation: "Update", subresource: "status" },
      fieldsV1: { "f:status": { "f:conditions": conditions } },
    };
  });
  return { ...after, metadata: { ...after.metadata, ...(managedFields.length > 0 && { managedFields }) } };
}
