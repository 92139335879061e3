"""Inputs, trees and counts on the device of a torch model: drawn, compared and counted where its answers are."""
