/**
 * Processes `items` in order, at most `lanes` of them at a time, and returns the results in the order of the items.
 * Items that take longest should come first, so that the lanes end together.
 */
export async function inLanes<Item, Outcome>(
  items: readonly Item[],
  lanes: number,
  work: (item: Item) => Promise<Outcome>,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) {
      const item = items[index] as Item;
      outcomes[index] = await work(item);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return outcomes;
}
