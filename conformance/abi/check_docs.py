#!/usr/bin/env python3
"""Every class, enum and enumerator of the public headers has a line of documentation that says more than its name."""
import argparse
import os
import re
import sys

import check_abi


def text_of(cursor):
    """The words of a cursor's comment, without its marks."""
    return re.sub(r"(^\s*//[!/]<?|^\s*/?\*+[!/]?|\*/)", "", cursor.raw_comment or "", flags=re.M).strip()


def says_more(cursor):
    words = set(re.findall(r"[a-z0-9]+", text_of(cursor).lower()))
    name = set(re.findall(r"[a-z0-9]+", cursor.spelling.lower()))
    return bool(words - name - {"the", "a", "an", "enum", "enumerator", "class", "struct", "value"})


class Walker:
    def __init__(self, cindex, include):
        self.kinds = cindex.CursorKind
        self.include = os.path.realpath(include)
        self.seen, self.bad = 0, []

    def ours(self, cursor):
        file = cursor.location.file
        return file is not None and os.path.realpath(file.name).startswith(self.include + os.sep)

    def check(self, cursor):
        self.seen += 1
        if not says_more(cursor):
            where = cursor.location
            self.bad.append("%s:%d: %s has no documentation" % (
                os.path.relpath(where.file.name, self.include), where.line, cursor.displayname))

    def walk(self, parent):
        k = self.kinds
        classes = (k.CLASS_DECL, k.STRUCT_DECL, k.CLASS_TEMPLATE)
        for cursor in parent.get_children():
            if cursor.kind in (k.NAMESPACE, k.LINKAGE_SPEC, k.UNEXPOSED_DECL):
                if parent.kind == k.TRANSLATION_UNIT and cursor.kind == k.NAMESPACE and not self.ours(cursor):
                    continue
                self.walk(cursor)
            elif not self.ours(cursor) or not cursor.is_definition():
                continue
            elif cursor.kind == k.ENUM_DECL:
                self.check(cursor)
                for enumerator in cursor.get_children():
                    if enumerator.kind == k.ENUM_CONSTANT_DECL:
                        self.check(enumerator)
            elif cursor.kind in classes and "EnumMaxImpl<" not in cursor.displayname:
                self.check(cursor)
                self.walk(cursor)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--include", required=True, metavar="DIR")
    parser.add_argument("--cuda-include", required=True, metavar="DIR")
    args = parser.parse_args()
    extractor = check_abi.Extractor(args.include, args.cuda_include)
    errors = extractor.errors
    walker = Walker(extractor.ci, args.include)
    walker.walk(extractor.parse().cursor)
    for line in errors + walker.bad:
        print(line)
    print("%d names, %d without documentation" % (walker.seen, len(walker.bad)))
    # Fewer names than the API has means that the walk missed some, not that all is well.
    sys.exit(1 if errors or walker.bad or walker.seen < 600 else 0)


main()
