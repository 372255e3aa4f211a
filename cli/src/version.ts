import manifest from "../package.json" with { type: "json" };

/** The release, without a leading "v". */
export const { version } = manifest;
