import type { ShippedPackage } from "../licences/shipped-packages.ts";

/** A package in the form that releases and licence texts use. */
export const yaml: ShippedPackage = {
  name: "@scope/yaml",
  version: "2.9.1",
  licence: "ISC",
  texts: ["Permission to use"],
  notices: [],
  copyrights: [],
  integrity: `sha512-${Buffer.alloc(64, 1).toString("base64")}`,
};
