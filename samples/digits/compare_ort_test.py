#!/usr/bin/env python3
"""The comparison must see a difference."""
import unittest

import compare_ort


class Differences(unittest.TestCase):
    def test_equal_classes(self):
        self.assertEqual(compare_ort.differences([3, 1, 4], [3, 1, 4]), [])

    def test_one_other_class_is_named(self):
        self.assertEqual(compare_ort.differences([3, 1, 4], [3, 7, 4]), ["digit 1: 1 given, ONNX Runtime says 7"])

    def test_missing_classes(self):
        self.assertEqual(compare_ort.differences([3, 1], [3, 1, 4]), ["2 classes given for 3 digits"])

    def test_accuracy_other_than_recorded(self):
        self.assertIn("digits.json says", compare_ort.accuracy_problem([0] * 360))


if __name__ == "__main__":
    unittest.main()
