/**
 * The owner that must make room for one more item of `forOwner` when several owners share a bounded number: the owner
 * of the most items, unless `forOwner` would then have that many, too; undefined when there is none.
 */
export function ownerOfMost<Owner, Share>(
  byOwner: ReadonlyMap<Owner, Share>,
  sizeOf: (share: Share) => number,
  forOwner: Owner,
): readonly [owner: Owner, share: Share] | undefined {
  const own = byOwner.get(forOwner);
  let mostSize = own === undefined ? 1 : sizeOf(own) + 1;
  let most: readonly [Owner, Share] | undefined;
  for (const entry of byOwner) {
    const size = sizeOf(entry[1]);
    if (size <= mostSize) continue;
    mostSize = size;
    most = entry;
  }
  return most;
}
