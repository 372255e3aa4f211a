/** The oldest release of Node.js that can run the program. */
export const minNodeMajor = 24;

/** Describes a Node.js that is too old; undefined if it is not. */
export const describeOldNode = (release: string, path: string): string | undefined =>
  Number(release.split(".")[0]) < minNodeMajor
    ? `Node.js ${release} is too old: version ${minNodeMajor} or newer is needed (${path})`
    : undefined;
