/** Sources of this project that others wrote, and what goes along with them. */

export type TakenOver = {
  /** The file, with where it is from. */
  readonly name: string;
  /** Addresses of the repositories that it was taken from. */
  readonly repositories: readonly string[];
  /** Paths from the root of the project. */
  readonly files: readonly string[];
  /** SPDX expression; its text is that of LICENSE. */
  readonly licence: "Apache-2.0";
  /** The NOTICE file there, and the holders of rights. */
  readonly notices: readonly string[];
};

export const takenOver: readonly TakenOver[] = [
  {
    name: "ext-authz.proto, from the API of Envoy and from googleapis",
    repositories: ["https://github.com/envoyproxy/envoy", "https://github.com/googleapis/googleapis"],
    files: ["proto/ext-authz.proto"],
    licence: "Apache-2.0",
    notices: [
      "Envoy\nCopyright (c) 2017 Lyft Inc.  All rights reserved.\n\nLicensed under Apache License 2.0.  See LICENSE.txt for terms.",
      "Copyright the Envoy Project Authors\nCopyright Google LLC",
      "Changed: brought together in one package, without fields that are neither sent nor read; compiled to TypeScript.",
    ],
  },
];
