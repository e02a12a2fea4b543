#!/usr/bin/env python3
"""Every class, enum and enumerator of the public headers has a line of documentation that says more than its name, and
so has every public method that is alive: whose class Kiln implements or calls, and that does not answer "not in Kiln yet".
"""
import argparse
import glob
import os
import re
import sys

import check_abi


# Interfaces of programs that Kiln does not call yet; one that it implements has a V class in its sources.
DORMANT = re.compile(r"IPlugin(V2|V3|Creator|Resource|Quick)|IInt8|IDimensionExpr|IExprBuilder|"
                     r"ISymExpr|IKernelLaunch|IAttention$|IMoE")


class Living:
    """Which methods of the API answer with more than an error, as the sources have it."""

    def __init__(self, sources, include):
        text = ""
        for folder in ("api", "plugin"):
            for path in glob.glob(os.path.join(sources, folder, "**", "*.*"), recursive=True):
                with open(path) as file:
                    text += file.read()
        with open(os.path.join(include, "NvInferImpl.h")) as file:
            self.forwarding = set(re.findall(r"^class V(\w+)", file.read(), re.M))
        self.implemented = set(re.findall(r"apiv::V(\w+)", text))
        self.missing = set(re.findall(r'missing(?:_call)?\([^"]*"(\w+)::(\w+)"', text))

    def has(self, owner, method):
        name = owner[1:].replace("IfConditionalBoundary", "ConditionalBoundary")  # as their headers have it
        if name in self.forwarding:
            return name in self.implemented and (owner, method) not in self.missing
        return not DORMANT.match(owner)


def text_of(cursor):
    """The words of a cursor's comment, without its marks."""
    return re.sub(r"(^\s*//[!/]<?|^\s*/?\*+[!/]?|\*/)", "", cursor.raw_comment or "", flags=re.M).strip()


def says_more(cursor):
    words = set(re.findall(r"[a-z0-9]+", text_of(cursor).lower()))
    name = set(re.findall(r"[a-z0-9]+", cursor.spelling.lower()))
    return bool(words - name - {"the", "a", "an", "enum", "enumerator", "class", "struct", "value"})


class Walker:
    def __init__(self, cindex, include, living):
        self.living, self.methods = living, 0
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

    def check_methods(self, owner):
        for cursor in owner.get_children():
            if cursor.kind != self.kinds.CXX_METHOD or cursor.access_specifier.name != "PUBLIC":
                continue
            words = {token.spelling for token in cursor.get_tokens()}
            if words & {"override", "final", "delete"} or cursor.spelling.startswith("operator"):
                continue
            if self.living.has(owner.spelling, cursor.spelling):
                self.methods += 1
                self.check(cursor)

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
                if "NvInferImpl.h" not in cursor.location.file.name:
                    self.check_methods(cursor)
                self.walk(cursor)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--include", required=True, metavar="DIR")
    parser.add_argument("--cuda-include", required=True, metavar="DIR")
    parser.add_argument("--sources", required=True, metavar="DIR", help="Kiln's src")
    args = parser.parse_args()
    extractor = check_abi.Extractor(args.include, args.cuda_include)
    errors = extractor.errors
    walker = Walker(extractor.ci, args.include, Living(args.sources, args.include))
    walker.walk(extractor.parse().cursor)
    for line in errors + walker.bad:
        print(line)
    print("%d names, %d of them living methods; %d without documentation" % (walker.seen, walker.methods, len(walker.bad)))
    # Fewer names than the API has means that the walk missed some, not that all is well.
    sys.exit(1 if errors or walker.bad or walker.seen < 1000 or walker.methods < 400 else 0)


main()
