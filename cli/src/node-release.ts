/** The oldest release of Node.js that the program runs on. */
export const minNodeMajor = 24;

/** The sentence about a Node.js that is too old; undefined when it is not. */
export const describeOldNode = (release: string, path: string): string | undefined =>
  Number(release.split(".")[0]) < minNodeMajor
    ? `Node.js ${release} is too old: version ${minNodeMajor} or newer is needed (${path})`
    : undefined;
