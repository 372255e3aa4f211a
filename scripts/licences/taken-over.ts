/** Sources of this project that others wrote, and the texts that are distributed with them. */

export type TakenOver = {
  /** The name of the file, and its origin. */
  readonly name: string;
  /** Addresses of the repositories from which it was copied. */
  readonly repositories: readonly string[];
  /** Paths from the root of the project. */
  readonly files: readonly string[];
  /** The licence in SPDX syntax; LICENSE contains its text. */
  readonly licence: "Apache-2.0";
  /** The text of the NOTICE file of the origin, and the copyright holders. */
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
